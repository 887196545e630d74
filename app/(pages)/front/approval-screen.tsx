import { Approval } from "../connect/approval";

const example = {
  client: { name: "Claude", documentHost: "claude.ai", origin: { is: "site", host: "claude.ai" } },
  reader: { by: "owner", account: { id: "", email: "you@example.com" } },
} as const;

/** The page on which an owner approves an app, as it is: the same component, which does nothing here. */
export function ApprovalScreen() {
  return (
    <figure
      className="screen"
      role="img"
      aria-label="The page on which you approve: “Connect an app?” claude.ai is asking for access. It says what the app can do and can never do, and has two buttons, Approve and Decline."
    >
      <div inert className="card">
        <p>Connect an app?</p>
        <Approval {...example} Part="p" request="" userCode={undefined} readersNetwork={undefined} />
      </div>
    </figure>
  );
}
