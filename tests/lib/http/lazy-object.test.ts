import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { LazyResponse } from "@/lib/http/response";
import { JoinedMessage } from "@/lib/server/joined-message";
import { toHeaders, toRequest } from "@/lib/server/web-adapter";

const fields = ["content-type", "text/plain", "x-one", "1", "set-cookie", "a=1", "set-cookie", "b=2"];
const body = '{"a":1}';
const address = "https://office.example.com/api/email/unsubscribe?token=a%20b&other='c'|d";

function incoming(): JoinedMessage {
  const message = new JoinedMessage(new Socket());
  message.method = "POST";
  message.headers = { "content-type": "text/plain", "x-one": "1", "set-cookie": ["a=1", "b=2"] };
  message.push(Buffer.from(body));
  message.push(null);
  return message;
}

const pairs = (): [string, string][] =>
  fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? ""] as [string, string]] : []));

/** A class, a fresh real one, and a fresh one of what stands in for it. */
const standIns = [
  { Real: Headers, real: () => new Headers(pairs()), standIn: () => toHeaders(incoming()) },
  {
    Real: Request,
    real: () => new Request(address, { method: "POST", headers: pairs(), body }),
    standIn: () => toRequest(incoming(), address),
  },
  {
    Real: Response,
    real: () => new Response(body, { status: 201, headers: pairs() }),
    standIn: () => new LazyResponse(201, fields, body) as unknown as Response,
  },
];

/** The arguments of a member; any other is called with none. */
const givenTo: Record<string, unknown[]> = {
  append: ["x-one", "2"],
  delete: ["x-one"],
  forEach: [() => {}],
  get: ["X-One"],
  has: ["X-One"],
  set: ["x-one", "2"],
};

describe.each(standIns)("what stands in for a $Real.name", ({ Real, real, standIn }) => {
  const members = Reflect.ownKeys(Real.prototype).map((name) => [String(name), name] as const);

  it.each(members)("has the real one's %s", async (_, name) => {
    const use = async (made: object) => {
      const member = made[name as keyof object] as unknown;
      const isMethod = typeof member === "function" && name !== "constructor";
      const given = givenTo[String(name)] ?? [];
      return describeValue(await (isMethod ? Reflect.apply(member, made, given) : member), made);
    };
    const outcome = (made: object) => use(made).catch((failure) => `throws a ${failure.name}`);
    expect(await outcome(standIn())).toEqual(await outcome(real()));
  });

  it("passes for one, and shows nothing of its own", () => {
    expect(standIn()).toBeInstanceOf(Real);
    expect(Object.prototype.toString.call(standIn())).toBe(`[object ${Real.name}]`);
    expect(Object.keys(standIn())).toEqual([]);
  });
});

/** The comparable parts of a value, and of its object after it was read. */
async function describeValue(value: unknown, of: object): Promise<unknown> {
  const after = of instanceof Headers ? [...of] : "bodyUsed" in of && of.bodyUsed;
  if (value instanceof Headers) return { headers: [...value], after };
  if (value instanceof Request) return { url: value.url, text: await value.text(), after };
  if (value instanceof Response) return { status: value.status, text: await value.text(), after };
  if (value instanceof ReadableStream) return { text: await new Response(value).text(), after };
  if (value instanceof Blob) return { text: await value.text(), type: value.type, after };
  if (value instanceof AbortSignal) return { aborted: value.aborted, after };
  if (typeof value === "object" && value !== null && Symbol.iterator in value) {
    return { values: [...(value as Iterable<unknown>)], after };
  }
  return { value, after };
}

describe("headers that stand in for the real ones", () => {
  it("are read by whatever reads headers", () => {
    const headers = toHeaders(incoming());
    const real = new Headers(pairs());
    expect([...headers]).toEqual([...real]);
    expect(Object.fromEntries(headers)).toEqual(Object.fromEntries(real));
    expect([...new Headers(headers)]).toEqual([...real]);
    expect([...toRequest(incoming(), address).headers]).toEqual([...real]);
  });

  it("know no name but those of headers", () => {
    for (const name of ["constructor", "toString", "__proto__"]) {
      expect(toHeaders(incoming()).get(name)).toBeNull();
    }
  });

  it("are those of their request before and after it was made, and what is changed in one is in the other", async () => {
    const request = toRequest(incoming(), address);
    request.headers.set("x-two", "2");
    expect(request.clone().headers.get("x-two")).toBe("2");
    request.headers.set("x-three", "3");
    expect(request.clone().headers.get("x-three")).toBe("3");
    expect(request.headers.get("x-three")).toBe("3");
    expect(await request.text()).toBe(body);
  });
});

describe("a response that stands in for a real one", () => {
  it("gives its parts to the sender, until someone may have changed them", () => {
    const response = new LazyResponse(201, fields, body);
    expect(response.parts).toEqual({ fields, content: body });
    (response as unknown as Response).headers.set("x-one", "2");
    expect(response.parts).toBeUndefined();
  });
});
