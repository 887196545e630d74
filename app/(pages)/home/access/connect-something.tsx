import type { Session } from "@/lib/auth/session";
import { settings } from "@/lib/config/settings";
import { mcpClients, trialOf } from "@/lib/docs/mcp-clients";
import { pages } from "@/lib/http/pages";
import { Clock } from "../../clock";
import { CopyLine } from "./copy-line";

/** How to connect the usual agents and apps, and the app that was connected last. */
export function ConnectSomething({ sessions }: { sessions: readonly Session[] }) {
  const { address, accountAddress, claudeCode, codex, cursor, vsCode } = mcpClients(settings().appUrl);
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
        <p>Each opens this site and asks for your approval. You never paste a token.</p>
        <dl>
          <dt>Claude and ChatGPT</dt>
          <dd>
            In the settings under connectors, add a custom connector with this address:
            <CopyLine text={accountAddress} label="the address for Claude and ChatGPT" />
            <Trial of="Claude" /> <Trial of="ChatGPT" />
          </dd>
          <dt>Claude Code</dt>
          <dd>
            <CopyLine text={claudeCode.join("; ")} label="the line for Claude Code" />
            <Trial of="Claude Code" />
          </dd>
          <dt>Codex</dt>
          <dd>
            <CopyLine text={codex} label="the line for Codex" />
            <Trial of="Codex" />
          </dd>
          <dt>Cursor</dt>
          <dd>
            <a href={cursor.installLink}>Add to Cursor</a> <Trial of="Cursor" />
          </dd>
          <dt>VS Code</dt>
          <dd>
            <a href={vsCode.installLink}>Add to VS Code</a> <Trial of="VS Code" />
          </dd>
          <dt>Other agents</dt>
          <dd>
            <CopyLine text={address} label="the address for other agents" />
            <a href={`${pages.mcp.path}#connecting`}>How to connect them</a>
          </dd>
          <dt>Other apps</dt>
          <dd>
            Choose to connect in the app. If it shows a code, <a href={pages.connect.path}>enter the code</a>.
          </dd>
        </dl>
      </details>
    </section>
  );
}

function Trial({ of }: { of: string }) {
  return <small className="quiet">{trialOf(of)}</small>;
}
