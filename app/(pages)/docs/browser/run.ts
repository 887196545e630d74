import { make } from "./make";

/** On an operation's page: sends the request to this service from the reader's browser, and shows the response. */
export function addRun(): void {
  const panel = document.querySelector<HTMLElement>("[data-runs]");
  const request = panel?.querySelector("#request");
  const path = panel?.dataset.runs;
  if (!request || !path) return;
  const button = make("button", { type: "button", className: "small", textContent: "Run it here" });
  const result = make("div", { role: "status" });
  button.onclick = async () => {
    if (button.ariaDisabled === "true") return;
    // A button that is `disabled` loses the focus.
    button.ariaDisabled = "true";
    result.replaceChildren(...(await ask(path)));
    button.ariaDisabled = null;
  };
  request.append(button, result);
}

async function ask(path: string): Promise<Node[]> {
  const startedAt = performance.now();
  const answer = await fetch(path, { cache: "no-store" }).catch(() => undefined);
  if (!answer)
    return [
      make("p", {
        className: "quiet",
        textContent: "No response: the network or the service is not available.",
      }),
    ];
  const text = await answer.text();
  const ms = Math.round(performance.now() - startedAt);
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`);
  return [
    make("p", { className: "quiet", textContent: `This service answered ${answer.status} in ${ms} ms.` }),
    make("pre", {
      textContent: `HTTP ${answer.status}\n${headers.join("\n")}\n\n${pretty(text)}`,
      tabIndex: 0,
    }),
  ];
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
