import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { IncomingRequest } from "@/lib/http/incoming-request";
import { JoinedMessage } from "@/lib/server/joined-message";

const sent = { "content-type": "text/plain", "x-one": "1", "set-cookie": ["a=1", "b=2"] };

function request(): IncomingRequest {
  const message = new JoinedMessage(new Socket());
  message.method = "POST";
  message.headers = sent;
  return new IncomingRequest(message, "https://office.example.com/");
}

describe("the headers of a request to our own server", () => {
  const real = new Headers(
    Object.entries(sent).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    ),
  );

  it("are read like real ones", () => {
    const { headers } = request();
    for (const name of ["X-One", "x-one", "set-cookie", "x-two"]) {
      expect(headers.get(name)).toBe(real.get(name));
      expect(headers.has(name)).toBe(real.has(name));
    }
    expect([...new Headers([...headers])]).toEqual([...real]);
    expect(Object.fromEntries(headers)).toEqual(Object.fromEntries(real));
  });

  it("know no name but those of headers", () => {
    for (const name of ["constructor", "toString", "__proto__"])
      expect(request().headers.get(name)).toBeNull();
  });
});
