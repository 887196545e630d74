import { type Added, backendActs, mayInWords } from "@/lib/admin/backend";
import { type Backend, listBackends } from "@/lib/backend/backends";
import { settings } from "@/lib/config/settings";
import { ActFold, formOf } from "@/lib/office/act-form";
import { showOnce } from "@/lib/office/outcomes";
import type { OfficeCall, OfficePage, OfficeView } from "@/lib/office/page";
import { SystemCard } from "@/lib/office/system-card";
import { Instant } from "@/lib/office/values";

async function show(call: OfficeCall) {
  const backends = await listBackends(call.db);
  const { backend } = settings();
  return (
    <>
      <p className="lead">
        Your own systems that read accounts, spend and hold credits.{" "}
        {backend ? (
          <>
            They call <code>{backend.url}</code>, whose page <code>/docs</code> says how.
          </>
        ) : (
          <>
            None can call: <code>BACKEND_PORT</code> is not set.
          </>
        )}
      </p>
      <ActFold
        title="Add a backend"
        act={add}
        call={call}
        isFirst
        isOpen={backends.length === 0 || call.typed("may") !== undefined}
      >
        <button type="submit">Add the backend</button>
      </ActFold>
      {backends.length === 0 && <p className="quiet">No system of yours has a key yet.</p>}
      {backends.map(({ id, may, keys, addedAtMs }) => (
        <SystemCard
          key={id}
          name={id}
          facts={{
            "It may": may.map((one) => mayInWords[one]).join(", "),
            Added: <Instant atMs={addedAtMs} />,
            Keys: <Keys keys={keys} />,
          }}
        >
          <Changes call={call} id={id} />
        </SystemCard>
      ))}
    </>
  );
}

/** The public keys by the start of their names, as the shell lists them whole; the newest first. */
function Keys({ keys }: Pick<Backend, "keys">) {
  return keys.map(({ kid, addedAtMs }) => (
    <p key={kid}>
      <code>{kid.slice(0, 8)}…</code> since <Instant atMs={addedAtMs} />
    </p>
  ));
}

function Changes({ call, id }: { call: OfficeCall; id: string }) {
  return (
    <>
      <ActFold
        title="Rotate the key"
        act={rotate}
        call={call}
        hidden={{ backend: id }}
        isOpen={call.typed("backend") === id && call.typed("may") === undefined}
      >
        <button type="submit" className="plain">
          Give {id} a new key
        </button>
      </ActFold>
      <ActFold title="Remove" act={remove} call={call} hidden={{ backend: id }}>
        <button type="submit" className="danger">
          Remove {id}
        </button>
      </ActFold>
    </>
  );
}

const { add, rotate, remove } = backendActs;

/** The private key of a pair that was made, which is stored nowhere; nothing if the backend has its own. */
function showKey({ id, privateKey }: Added): OfficeView | undefined {
  if (privateKey === undefined) return undefined;
  const words = `It is shown this once, and stored nowhere. Give it to ${id} as a file, and to no one else.`;
  return showOnce(`The private key of ${id}`, words, privateKey, backends);
}

export const backends: OfficePage = {
  path: "/backends",
  name: "Backends",
  show,
  acts: [formOf(add, showKey), formOf(rotate, showKey), formOf(remove)],
};
