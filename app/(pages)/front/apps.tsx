import { settings } from "@/lib/config/settings";
import { documentPages } from "@/lib/http/register/pages";
import { Monogram } from "../icons";

/** Agents that connect today, by the names that people know, the best known first. */
export const agents = [
  ...["Claude", "ChatGPT", "Claude Code", "Codex", "Cursor", "VS Code"],
  ...["Copilot CLI", "Gemini CLI"],
];

const shownAtOnce = 6;

/** The names of the apps to connect: the operator's own, or else the usual agents. */
export function nameApps(): string[] {
  return settings().apps?.map(({ name }) => name) ?? agents;
}

/** The apps that one brings, and that they are paid for elsewhere. */
export function Apps() {
  const { apps } = settings();
  return (
    <>
      <ul className="apps">
        {apps?.map(({ name, platform, url }) => (
          <li key={name}>
            <a href={url}>{name}</a> <span className="quiet">{platform}</span>
          </li>
        )) ??
          agents.slice(0, shownAtOnce).map((name) => (
            <li key={name}>
              <Monogram name={name} />
              {name}
            </li>
          ))}
      </ul>
      <p>
        {apps ? "One of these" : "One of these, or any agent that speaks MCP"}. Its own subscription is not
        included. <a href={documentPages.connectAnApp.path}>How apps connect</a>
      </p>
    </>
  );
}
