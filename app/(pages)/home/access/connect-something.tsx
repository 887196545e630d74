import type { ReactNode } from "react";
import type { Session } from "@/lib/auth/sessions/session";
import { settings } from "@/lib/config/settings";
import { knownClients, mcpClients, triedOn } from "@/lib/docs/mcp-clients";
import { pages } from "@/lib/http/register/pages";
import { Monogram } from "../../icons";
import { LatestApp } from "../latest-app";
import { CopyLine } from "./copy-line";

/** The usual agents and apps, each with how it is connected, and the app that was connected last. */
export function ConnectSomething({ sessions, nowMs }: { sessions: readonly Session[]; nowMs: number }) {
  const { address, accountAddress, claudeCode, codex, cursor, vsCode } = mcpClients(settings().appUrl);
  const latest = sessions.find(({ kind }) => kind === "app");
  const inSettings = (name: string) => (
    <>
      <p>In its settings under connectors, add a custom connector with this address:</p>
      <CopyLine text={accountAddress} label={`the address for ${name}`} />
    </>
  );
  const inTerminal = (text: string, name: string) => (
    <>
      <p>In a terminal:</p>
      <CopyLine text={text} label={`the line for ${name}`} />
    </>
  );
  const ways: Record<string, ReactNode> = {
    Claude: inSettings("Claude"),
    ChatGPT: inSettings("ChatGPT"),
    "Claude Code": inTerminal(claudeCode.join("; "), "Claude Code"),
    Codex: inTerminal(codex, "Codex"),
    Cursor: <a href={cursor.installLink}>Add to Cursor</a>,
    "VS Code": <a href={vsCode.installLink}>Add to VS Code</a>,
    "Other agents": (
      <>
        <CopyLine text={address} label="the address for other agents" />
        <a href={`${pages.mcp.path}#connecting`}>How to connect them</a>
      </>
    ),
    "A device with a code": <a href={pages.connect.path}>Type the code that it shows</a>,
  };
  return (
    <section id="connect-something" className="card">
      <h2>{latest ? "Connect another app" : "Connect an app"}</h2>
      {latest && <LatestApp app={latest} nowMs={nowMs} />}
      <p className="quiet">It opens this site and asks for your approval. You never paste a token.</p>
      <div className="tiles">
        {Object.entries(ways).map(([name, way]) => (
          <details key={name} name="connect">
            <summary>
              <Monogram name={name} />
              {name}
            </summary>
            {way}
            <Tried name={name} />
          </details>
        ))}
      </div>
    </section>
  );
}

/** How we tried an app. */
function Tried({ name }: { name: string }) {
  const known = knownClients.find((client) => client.name === name);
  if (!known) return null;
  return (
    <p className="quiet">
      Tried on {triedOn}: {known.tried}.
    </p>
  );
}
