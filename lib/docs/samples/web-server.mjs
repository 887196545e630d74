import { CompanyGate, Connection } from "./corner-office.mjs";

const url = process.env.CORNER_OFFICE_URL;
const redirectUri = "https://studio.example.com/signed-in";
const refreshTokens = new Map(); // keep them in your database, encrypted
const companies = new Map(); // one for each person, so that a token is renewed once
const requests = new Map(); // who is asked for approval, by the state of the request

function companyOf(person) {
  const read = async () => refreshTokens.get(person) ?? "";
  const write = async (refreshToken) => void refreshTokens.set(person, refreshToken);
  const connection = new Connection(url, "studio", { read, write });
  if (!companies.has(person)) companies.set(person, { connection, gate: new CompanyGate(url, connection.readToken) });
  return companies.get(person);
}

/** When a person presses "Connect": returns the address to which you redirect their browser. */
export function askForApproval(person) {
  return new Promise((redirectTo, fail) => {
    const connected = companyOf(person).connection.connect(redirectUri, (address) => new Promise((answer) => {
      const state = new URL(address).searchParams.get("state");
      requests.set(state, { person, answer, connected: () => connected });
      setTimeout(() => requests.delete(state), 15 * 60_000).unref();
      redirectTo(address);
    }));
    connected.catch(fail);
  });
}

/** At /signed-in, with the person of your session and the path that was asked for. Throws if the owner declined. */
export async function takeAnswer(person, path) {
  const request = requests.get(new URL(path, redirectUri).searchParams.get("state"));
  if (request?.person !== person) throw new Error("The answer is to no request of this person.");
  request.answer(path);
  await request.connected();
}

/** Before you do what only a company that may run can do. */
export async function mayRun(person) {
  const { gate } = companyOf(person);
  if (!gate.mayRun()) await gate.ask();
  return gate.mayRun();
}
