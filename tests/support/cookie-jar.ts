import type { Answer } from "@/tests/support/service";

/** The cookies of a browser, by name. */
export class CookieJar extends Map<string, string> {
  /** Its `Cookie` header. */
  get header(): string {
    return [...this].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** Takes the cookies of an answer, and returns it. */
  keep(answer: Answer): Answer {
    for (const line of answer.headers["set-cookie"] ?? []) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.delete(name);
      else this.set(name, value);
    }
    return answer;
  }
}
