import { ButtonLink } from "@/app/(pages)/button-link";
import { PostButton, PostForm } from "@/app/(pages)/post-form";
import {
  addBackend,
  type Backend,
  listBackends,
  permissions,
  removeBackend,
  rotateBackend,
} from "@/lib/backend/backends";
import { settings } from "@/lib/config/settings";
import { Choice, Field } from "@/lib/office/forms";
import {
  formWithProof,
  invalid,
  type OfficeAct,
  type OfficeCall,
  type OfficePage,
  type OfficeView,
} from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Instant } from "@/lib/office/values";

const mayWords = { read: "read", "read,spend": "read and spend", spend: "spend" };

async function show(call: OfficeCall) {
  const backends = await listBackends(call.db);
  const { backend } = settings();
  return (
    <>
      <p>
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
      <Table
        rows={backends}
        columns={{
          Name: ({ id }) => id,
          "It may": ({ may }) => may.join(" and "),
          Added: ({ addedAtMs }) => <Instant atMs={addedAtMs} />,
          Keys: ({ keys }) => <Keys keys={keys} />,
          Change: ({ id }) => <Changes call={call} id={id} />,
        }}
        whenEmpty="None."
      />
      <h2>Add a backend</h2>
      <PostForm action={add.path} className="stack">
        <Field call={call} name="backend" label="Name" maxLength={40} spellCheck={false} />
        <Choice call={call} name="may" label="It may" options={mayWords} />
        <KeyField call={call} />
        <button type="submit">Add</button>
      </PostForm>
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
      <details className="fold">
        <summary>Rotate the key</summary>
        <PostForm action={rotate.path} hidden={{ backend: id }} className="stack">
          <p>The key before stays valid until the next rotation.</p>
          <KeyField call={call} />
          <button type="submit">Rotate the key of {id}</button>
        </PostForm>
      </details>
      <PostButton action={remove.path} hidden={{ backend: id }} label={`Remove ${id}`}>
        Remove
      </PostButton>
    </>
  );
}

function KeyField({ call }: { call: OfficeCall }) {
  return (
    <label>
      Its public key, PEM or JWK; without one, a pair is made
      <textarea name="publicKey" rows={3} spellCheck={false} defaultValue={call.typed("publicKey")} />
    </label>
  );
}

const add: OfficeAct = {
  ...formWithProof("/backends/add"),
  name: "add a backend",
  done: "Added. It is known within a second.",
  async run(call) {
    const { db, by, nowMs, input } = call;
    const id = input("backend") ?? "";
    const asked = (input("may") ?? "").split(",");
    const may = permissions.filter((permission) => asked.includes(permission));
    if (may.length === 0) throw invalid("Choose what it may.");
    return showKey(id, await addBackend(db, { id, may, publicKey: keyIn(call), by }, nowMs));
  },
};

const rotate: OfficeAct = {
  ...formWithProof("/backends/rotate"),
  name: "rotate the key",
  done: "The new key is known within a second. The one before stays valid.",
  async run(call) {
    const { db, by, nowMs, input } = call;
    const id = input("backend") ?? "";
    return showKey(id, await rotateBackend(db, { id, publicKey: keyIn(call), by }, nowMs));
  },
};

const remove: OfficeAct = {
  ...formWithProof("/backends/remove"),
  name: "remove the backend",
  done: "Removed. Its requests are refused from now on.",
  async run({ db, by, nowMs, input }) {
    await removeBackend(db, { id: input("backend") ?? "", by }, nowMs);
  },
};

const keyIn = ({ input }: OfficeCall) => input("publicKey") || undefined;

/** The private key of a pair that was made, which is stored nowhere; nothing if the backend has its own. */
function showKey(id: string, privateKey: string | undefined): OfficeView | undefined {
  if (privateKey === undefined) return undefined;
  return {
    title: `The private key of ${id}`,
    content: (
      <>
        <p>It is shown this once, and stored nowhere. Give it to {id} as a file, and to no one else.</p>
        <pre>
          <code>{privateKey}</code>
        </pre>
        <ButtonLink to={backends.path} isPlain>
          Back to the backends
        </ButtonLink>
      </>
    ),
  };
}

export const backends: OfficePage = {
  path: "/backends",
  name: "Backends",
  show,
  acts: [add, rotate, remove],
};
