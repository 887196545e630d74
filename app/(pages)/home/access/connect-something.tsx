import type { Session } from "@/lib/auth/sessions/session";
import { settings } from "@/lib/config/settings";
import { knownClients, mcpClients, triedOn } from "@/lib/docs/mcp-clients";
import { pages } from "@/lib/http/register/pages";
import { agents } from "../../front/apps";
import { LatestApp } from "../latest-app";
import { CopyLine } from "./copy-line";

/** How to connect the usual agents and apps, and the app that was connected last. */
export function ConnectSomething({ sessions, nowMs }: { sessions: readonly Session[]; nowMs: number }) {
  const { address, accountAddress, claudeCode, codex, cursor, vsCode } = mcpClients(settings().appUrl);
  const latest = sessions.find(({ kind }) => kind === "app");
  return (
    <section id="connect-something" className="card connect-something">
      <h2>Connect something</h2>
      {latest && <LatestApp app={latest} nowMs={nowMs} />}
      <details open={!latest}>
        <summary>Claude, ChatGPT, Codex, Cursor, VS Code and others</summary>
        <p>Each opens this site and asks for your approval. You never paste a token.</p>
        <dl>
          <dt>Claude and ChatGPT</dt>
          <dd>
            In the settings under connectors, add a custom connector with this address:
            <CopyLine text={accountAddress} label="the address for Claude and ChatGPT" />
          </dd>
          <dt>Claude Code</dt>
          <dd>
            <CopyLine text={claudeCode.join("; ")} label="the line for Claude Code" />
          </dd>
          <dt>Codex</dt>
          <dd>
            <CopyLine text={codex} label="the line for Codex" />
          </dd>
          <dt>Cursor and VS Code</dt>
          <dd>
            <a href={cursor.installLink}>Add to Cursor</a>, <a href={vsCode.installLink}>add to VS Code</a>
          </dd>
          <dt>Other agents</dt>
          <dd>
            <CopyLine text={address} label="the address for other agents" />
            <a href={`${pages.mcp.path}#connecting`}>How to connect them</a>
          </dd>
        </dl>
        <details>
          <summary>What we tried, last on {triedOn}</summary>
          <ul className="quiet">
            {knownClients
              .filter(({ name }) => agents.includes(name))
              .map(({ name, tried }) => (
                <li key={name}>
                  <strong>{name}</strong>: {tried}
                </li>
              ))}
          </ul>
        </details>
      </details>
    </section>
  );
}
