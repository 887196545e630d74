import { settings } from "@/lib/config/settings";
import { documentPages } from "@/lib/http/register/pages";

/** Agents that connect today, by the names that people know. */
export const agents = [
  "Claude",
  "ChatGPT",
  "Claude Code",
  "Codex",
  "Copilot CLI",
  "Cursor",
  "Gemini CLI",
  "VS Code",
];

/** The names of the apps to connect: the operator's own, or else the usual agents. */
export function nameApps(): string[] {
  return settings().apps?.map(({ name }) => name) ?? agents;
}

/** The apps to connect: the operator's own, or else the usual agents. */
export function Apps() {
  const { apps } = settings();
  return (
    <section aria-labelledby="apps">
      <h2 id="apps">In the apps that you have</h2>
      <ul className="apps">
        {apps?.map(({ name, platform, url }) => (
          <li key={name}>
            <a href={url}>{name}</a> <span className="quiet">{platform}</span>
          </li>
        )) ?? agents.map((name) => <li key={name}>{name}</li>)}
      </ul>
      <p>
        <a href={documentPages.connectAnApp.path}>How apps connect</a>
      </p>
    </section>
  );
}
