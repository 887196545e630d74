import { ButtonLink } from "@/app/(pages)/button-link";
import { PostButton, PostForm } from "@/app/(pages)/post-form";
import { eventDays } from "@/lib/config/lifetimes";
import type { Db } from "@/lib/db/store";
import { eventTypeNames } from "@/lib/events/event";
import {
  addWebhook,
  describeWebhook,
  latestDeliveries,
  listWebhooks,
  parseTypes,
  removeWebhook,
  resendOne,
  resendSince,
  rotateWebhook,
  stateOf,
  testWebhook,
} from "@/lib/events/webhooks";
import { Field, parseTime, TimeField } from "@/lib/office/forms";
import {
  addressOf,
  formAt,
  formWithProof,
  invalid,
  type OfficeAct,
  type OfficeCall,
  type OfficePage,
  type OfficeView,
} from "@/lib/office/page";
import { Table } from "@/lib/office/table";
import { Instant, UntrustedText } from "@/lib/office/values";

type Described = Awaited<ReturnType<typeof describeWebhook>>;

async function show(call: OfficeCall) {
  const { db, input } = call;
  const rows = await listWebhooks(db);
  const described = await Promise.all(rows.map((row) => describeWebhook(db, row)));
  const chosen = described.find(({ id }) => id === input("webhook"));
  return (
    <>
      <p>Your own systems that are told what happens to accounts, as it happens.</p>
      <Table
        rows={described}
        columns={{
          Receiver,
          Events: ({ events }) => events?.join(", ") ?? "all",
          State,
          Waiting: ({ waiting }) => waiting,
          "Given up": ({ failed }) => failed,
          Deliveries: LastOnes,
          Change: Changes,
        }}
        whenEmpty="None."
      />
      {chosen && (
        <Deliveries call={call} webhook={chosen} deliveries={await latestDeliveries(db, chosen.id)} />
      )}
      <h2>Add a webhook</h2>
      <PostForm action={add.path} className="stack">
        <Field call={call} name="url" label="Address of the receiver" maxLength={1000} spellCheck={false} />
        <Field
          call={call}
          name="events"
          label="Events, with commas between them; all if it is empty"
          maxLength={500}
          spellCheck={false}
        />
        <button type="submit">Add</button>
      </PostForm>
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

const Receiver = ({ id, url }: Described) => (
  <>
    <UntrustedText>{url}</UntrustedText>
    <br />
    <code>{id}</code>
  </>
);

const LastOnes = ({ id, url }: Described) => (
  <a href={addressOf(webhooks.path, { webhook: id })} aria-label={`The last ones to ${url}`}>
    The last ones
  </a>
);

const TestButton = ({ id, url }: Described) => (
  <PostButton action={test.path} hidden={{ webhook: id }} label={`Test ${url}`}>
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

function Changes(webhook: Described) {
  const { id, url } = webhook;
  const hidden = { webhook: id };
  return (
    <div className="actions">
      <TestButton {...webhook} />
      <PostButton action={rotate.path} hidden={hidden} label={`Rotate the secret of ${url}`}>
        Rotate the secret
      </PostButton>
      <PostButton action={remove.path} hidden={hidden} label={`Remove ${url}`}>
        Remove
      </PostButton>
    </div>
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
              {type} <code>{event_id}</code>
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
              action={resend.path}
              hidden={{ webhook: id, event: event_id }}
              label={`Send again ${event_id}`}
            >
              Send again
            </PostButton>
          ),
        }}
        whenEmpty="None yet."
      />
      <PostForm action={resend.path} hidden={{ webhook: id }} className="stack">
        <TimeField call={call} name="since" label="Send all again since (UTC)" atMs={null} />
        <button type="submit">Send all again</button>
      </PostForm>
    </>
  );
}

const idIn = ({ input }: OfficeCall) => input("webhook") ?? "";

const add: OfficeAct = {
  ...formWithProof("/webhooks/add"),
  name: "add a webhook",
  async run(call) {
    const { db, by, nowMs, input } = call;
    const named = input("events");
    const types = named ? parseTypes(named) : undefined;
    if (named && !types) throw invalid(`The events are ${eventTypeNames.join(", ")}.`);
    return showSecret(await addWebhook(db, { url: input("url") ?? "", types, by }, nowMs));
  },
};

const rotate: OfficeAct = {
  ...formWithProof("/webhooks/rotate"),
  name: "rotate the secret",
  run: async (call) => showSecret(await rotateWebhook(call.db, idIn(call), call, call.nowMs)),
};

const remove: OfficeAct = {
  ...formWithProof("/webhooks/remove"),
  name: "remove the webhook",
  done: "Removed. Nothing is sent to it any more.",
  run: (call) => removeWebhook(call.db, idIn(call), call, call.nowMs),
};

const resend: OfficeAct = {
  ...formAt("/webhooks/resend"),
  name: "send again",
  done: "It is sent again within a second, if the receiver answers.",
  async run(call) {
    const { db, input, nowMs } = call;
    const event = input("event");
    if (event) return resendOne(db, idIn(call), event, call, nowMs);
    const sinceMs = parseTime(input("since"));
    if (sinceMs === null) throw invalid("Choose the time since when all is sent again.");
    return resendSince(db, idIn(call), sinceMs, call, nowMs);
  },
};

const test: OfficeAct = {
  ...formAt("/webhooks/test"),
  name: "test the webhook",
  async run(call) {
    const { status, answer, isAccepted } = await testWebhook(call.db, idIn(call), call, call.nowMs);
    return {
      title: isAccepted ? "The receiver accepted the test" : "The receiver did not accept the test",
      content: (
        <>
          <p>
            It said: <UntrustedText>{[status, answer].filter(Boolean).join(": ")}</UntrustedText>
          </p>
          <BackToWebhooks />
        </>
      ),
    };
  },
};

const BackToWebhooks = () => (
  <ButtonLink to={webhooks.path} isPlain>
    Back to the webhooks
  </ButtonLink>
);

/** What the receiver verifies signatures with. A secret is shown nowhere again. */
function showSecret({ id, ...told }: { id: string; secret?: string; publicKey?: string }): OfficeView {
  return {
    title: `${told.secret ? "The secret" : "The public key"} of ${id}`,
    content: (
      <>
        <p>It is shown this once. The receiver verifies with it what is sent.</p>
        <pre>
          <code>{told.secret ?? told.publicKey}</code>
        </pre>
        <BackToWebhooks />
      </>
    ),
  };
}

export const webhooks: OfficePage = {
  path: "/webhooks",
  name: "Webhooks",
  show,
  acts: [add, rotate, remove, resend, test],
};
