import { Socket } from "node:net";
import { expect, it } from "vitest";
import { IncomingRequest } from "@/lib/http/incoming-request";
import { JoinedMessage } from "@/lib/server/joined-message";

it("the headers of a request to our own server know no name but those of headers", () => {
  const message = new JoinedMessage(new Socket());
  message.headers = { "content-type": "text/plain" };
  const { headers } = new IncomingRequest(message, "https://office.example.com/");
  expect(headers.get("Content-Type")).toBe("text/plain");
  for (const name of ["constructor", "toString", "__proto__"]) expect(headers.get(name)).toBeNull();
});
