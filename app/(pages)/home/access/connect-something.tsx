import type { Session } from "@/lib/auth/session";
import { settings } from "@/lib/config/settings";
import { mcpClients } from "@/lib/docs/mcp-clients";
import { mcpServer } from "@/lib/http/operations";
import { pages } from "@/lib/http/pages";
import { Clock } from "../../clock";
import { CopyLine } from "./copy-line";

/** How to connect the usual agents and apps, and the app that was connected last. */
export function ConnectSomething({ sessions }: { sessions: readonly Session[] }) {
  const address = `${settings().appUrl}${mcpServer.paths[0]}`;
  const { claudeCode, codex, cursor, vsCode } = mcpClients(address);
  const latest = sessions.find(({ kind }) => kind === "app");
  return (
    <section id="connect-something" className="card connect-something">
      <h2>Connect something</h2>
      <p role="status">
        {latest && (
          <>
            “{latest.name}”{latest.origin && `, ${latest.origin},`}{" "}
            {latest.begunAtMs === null ? (
              "is connected"
            ) : (
              <>
                has been connected since <Clock atMs={latest.begunAtMs} shows="day and time" />
              </>
            )}
            .
          </>
        )}
      </p>
      <details open={!latest}>
        <summary>Claude, ChatGPT, Codex, Cursor, VS Code and others</summary>
        <p>
          Each opens this site and asks for your approval. You never paste a token. The address for agents
          (MCP):
        </p>
        <CopyLine text={address} label="the address" />
        <dl>
          <dt>Claude and ChatGPT</dt>
          <dd>In the settings under connectors, add a custom connector with this address.</dd>
          <dt>Claude Code</dt>
          <dd>
            <CopyLine text={claudeCode.join(" && ")} label="the line for Claude Code" />
          </dd>
          <dt>Codex</dt>
          <dd>
            <CopyLine text={codex.join(" && ")} label="the line for Codex" />
          </dd>
          <dt>Cursor</dt>
          <dd>
            <a href={cursor.installLink}>Add to Cursor</a>
          </dd>
          <dt>VS Code</dt>
          <dd>
            <a href={vsCode.installLink}>Add to VS Code</a>
          </dd>
          <dt>Other apps</dt>
          <dd>
            Choose to connect in the app. If it shows a code, <a href={pages.connect.path}>enter the code</a>.
          </dd>
        </dl>
        <p className="quiet">
          Another agent? <a href={`${pages.mcp.path}#connecting`}>How to connect it</a>
        </p>
      </details>
    </section>
  );
}
