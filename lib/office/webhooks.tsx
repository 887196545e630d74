import { PostButton } from "@/app/(pages)/post-form";
import { Light } from "@/app/(pages)/status-light";
import { type Added, eventInWords, webhookActs } from "@/lib/admin/webhook";
import { eventDays } from "@/lib/config/lifetimes";
import type { Db } from "@/lib/db/store";
import {
  describeWebhook,
  lastDelivered,
  latestDeliveries,
  listWebhooks,
  stateOf,
} from "@/lib/events/webhooks";
import { ActFold, ActForm, formOf } from "@/lib/office/act-form";
import { BackTo, showOnce } from "@/lib/office/outcomes";
import { addressOf, type OfficeCall, type OfficePage, type OfficeView } from "@/lib/office/page";
import { SystemCard } from "@/lib/office/system-card";
import { Table } from "@/lib/office/table";
import { Instant, UntrustedText } from "@/lib/office/values";

type Described = Awaited<ReturnType<typeof describeWebhook>>;

async function show(call: OfficeCall) {
  const { db, input } = call;
  const rows = await listWebhooks(db);
  const described = await Promise.all(
    rows.map(async (row) => ({
      ...(await describeWebhook(db, row)),
      lastAtMs: await lastDelivered(db, row.id),
    })),
  );
  const chosen = described.find(({ id }) => id === input("webhook"));
  return (
    <>
      <p className="lead">Your own systems that are told what happens to accounts, as it happens.</p>
      <ActFold
        title="Add a webhook"
        act={add}
        call={call}
        isFirst
        isOpen={described.length === 0 || undefined}
      >
        <button type="submit">Add the webhook</button>
      </ActFold>
      {described.length === 0 && <p className="quiet">No system is told anything yet.</p>}
      {described.map((webhook) => (
        <Webhook key={webhook.id} call={call} {...webhook} />
      ))}
      {chosen && (
        <Deliveries call={call} webhook={chosen} deliveries={await latestDeliveries(db, chosen.id)} />
      )}
    </>
  );
}

/** Those to which nothing is sent until an operator acts. */
export async function showIdleWebhooks(db: Db) {
  const idle = (await listWebhooks(db)).filter((row) => ["stopped", "locked"].includes(stateOf(row)));
  if (idle.length === 0) return null;
  const described = await Promise.all(idle.map((row) => describeWebhook(db, row)));
  return (
    <>
      <h2>Nothing is sent to these webhooks</h2>
      <p>
        What happens is kept for them for {eventDays} days. Once a receiver works, test it, and it gets what
        it has missed.
      </p>
      <Table
        rows={described}
        columns={{
          Receiver,
          State,
          Waiting: ({ waiting }) => waiting,
          Deliveries: LastOnes,
          Test: TestButton,
        }}
      />
    </>
  );
}

function Webhook({
  call,
  lastAtMs,
  ...webhook
}: Described & { call: OfficeCall; lastAtMs: number | undefined }) {
  const { id, url, state, events, waiting, failed } = webhook;
  const facts = {
    "Is told": events?.map(eventInWords).join(", ") ?? "everything",
    Waiting: waiting,
    "Given up": failed,
    Id: <code>{id}</code>,
  };
  return (
    <SystemCard
      name={<UntrustedText>{url}</UntrustedText>}
      facts={facts}
      light={
        <Light colour={colours[state]}>
          <State {...webhook} />
          {state === "works" && lastAtMs !== undefined && (
            <>
              , last delivery <Instant atMs={lastAtMs} />
            </>
          )}
        </Light>
      }
    >
      <LastOnes {...webhook} />
      <TestButton {...webhook} />
      <ActFold title="Rotate the secret" act={rotate} call={call} hidden={{ webhook: id }}>
        <button type="submit" className="plain" aria-label={`Make a new secret for ${url}`}>
          Make a new secret
        </button>
      </ActFold>
      <ActFold title="Remove" act={remove} call={call} hidden={{ webhook: id }}>
        <button type="submit" className="danger" aria-label={`Remove ${url}`}>
          Remove the webhook
        </button>
      </ActFold>
    </SystemCard>
  );
}

const colours = { works: "good", failing: "soon", stopped: "stopped", locked: "stopped" } as const;

const Receiver = ({ id, url }: Described) => (
  <>
    <UntrustedText>{url}</UntrustedText>
    <br />
    <code>{id}</code>
  </>
);

const LastOnes = ({ id, url }: Described) => (
  <a
    className="button plain small"
    href={addressOf(webhooks.path, { webhook: id })}
    aria-label={`The last deliveries to ${url}`}
  >
    Last deliveries
  </a>
);

const TestButton = ({ id, url }: Described) => (
  <PostButton action={test.form.path} hidden={{ webhook: id }} label={`Test ${url}`} look="plain small">
    Test
  </PostButton>
);

function State({ state, failingSince, stoppedSince }: Described) {
  const since = stoppedSince ?? failingSince;
  return (
    <>
      {state}
      {since !== null && (
        <>
          {" "}
          since <Instant atMs={Date.parse(since)} />
        </>
      )}
    </>
  );
}

type DeliveriesProps = {
  call: OfficeCall;
  webhook: Described;
  deliveries: Awaited<ReturnType<typeof latestDeliveries>>;
};

function Deliveries({ call, webhook: { id, url }, deliveries }: DeliveriesProps) {
  return (
    <>
      <h2>
        The last deliveries to <UntrustedText>{url}</UntrustedText>
      </h2>
      <Table
        rows={deliveries}
        columns={{
          Event: ({ type, event_id }) => (
            <>
              {eventInWords(type)} <code>{event_id}</code>
            </>
          ),
          Account: ({ account_id }) => <code>{account_id}</code>,
          State: ({ state, attempts }) => `${state}, ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`,
          Last: ({ at_ms }) => <Instant atMs={at_ms} />,
          "The receiver said": ({ status, answer }) => (
            <UntrustedText>{[status, answer].filter(Boolean).join(": ") || null}</UntrustedText>
          ),
          Change: ({ event_id }) => (
            <PostButton
              action={resend.form.path}
              hidden={{ webhook: id, event: event_id }}
              label={`Send again ${event_id}`}
            >
              Send again
            </PostButton>
          ),
        }}
        whenEmpty="None yet."
      />
      <ActForm act={resend} call={call} hidden={{ webhook: id }}>
        <button type="submit" className="plain">
          Send all again
        </button>
      </ActForm>
    </>
  );
}

const { add, rotate, remove, test, resend } = webhookActs;

/** What the receiver verifies signatures with. A secret is shown nowhere again. */
function showSecret({ id, ...told }: Added): OfficeView {
  const title = `${told.secret ? "The secret" : "The public key"} of ${id}`;
  const words = "It is shown this once. The receiver verifies with it what is sent.";
  return showOnce(title, words, told.secret ?? told.publicKey, webhooks);
}

export const webhooks: OfficePage = {
  path: "/webhooks",
  name: "Webhooks",
  show,
  acts: [
    formOf(add, showSecret),
    formOf(rotate, showSecret),
    formOf(remove),
    formOf(resend),
    formOf(test, ({ accepted, status, answer }) => ({
      title: accepted ? "The receiver accepted the test" : "The receiver did not accept the test",
      content: (
        <>
          <p>
            It said: <UntrustedText>{[status, answer].filter(Boolean).join(": ")}</UntrustedText>
          </p>
          <BackTo {...webhooks} />
        </>
      ),
    })),
  ],
};
