import { describeSeconds } from "@/lib/config/durations";
import { oauthSeconds } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { readParts } from "@/lib/docs/client-files";
import type { DocumentText } from "@/lib/docs/document";
import { code, json, linkToPage, to } from "@/lib/docs/markdown";
import { pages } from "@/lib/http/register/pages";
import { clientFiles } from "@/lib/http/register/publications";

/* How to connect an app, a page for each platform. The sequence is that of `connect.ts`. */

const common = { group: "Connect", showsSamplesBeside: true } as const;

/** Saves a client file under a name. */
const save = (language: keyof typeof clientFiles, name: string) =>
  code(
    "sh",
    `curl -sS --fail-with-body -o ${name} \\\n  "${settings().appUrl}${clientFiles[language].path}"`,
  );

/** The operator's line for an app that is called back at its own address. */
const registration = (
  name: string,
  redirectUri: string,
) => `The operator of this service adds your app, with [its redirect URI](${to.connectAnApp}#who-your-app-is):

${code("console", `npm run -s admin -- connect add studio "${name}" ${redirectUri}`)}`;

/** Joins the parts of the TypeScript file on a computer. `tests/lib/docs/connect-samples.drill.ts` runs it. */
const desktopApp = `
import { homedir } from "node:os";
import { CompanyGate, Connection, FileVault, connectOnDesktop } from "./corner-office.mjs";

const url = process.env.CORNER_OFFICE_URL;
const connection = new Connection(url, "native", new FileVault(homedir() + "/.corner-office"));
const gate = new CompanyGate(url, connection.readToken);
void gate.keepAsking(() => console.log(gate.mayRun() ? "run" : "wait", gate.why));

/** When the person presses "Sign in". */
async function signIn() {
  try {
    await connectOnDesktop(connection, async (address) => console.log("Open this in your browser:\\n" + address));
    gate.wake();
  } catch (failure) {
    console.log(failure.message);
  }
}

if ((await connection.readToken().catch(() => "not now")) === "") await signIn();`;

export const connectDesktop: DocumentText = {
  ...common,
  title: "Desktop app",
  summary:
    "Connect a desktop app with Node or Electron: the owner approves it in the browser of the computer.",
  markdown:
    () => `Your app opens the owner's browser, which returns the approval to a loopback address of the same computer.

## 1. Save the client

${save("typescript", "corner-office.mjs")}

One file with nothing to install: sign-in, renewal, storage and the loop.

## 2. Connect and ask

Save this next to it as \`app.mjs\`. It asks in a loop, and signs in when the person presses your button; here, at the first start.

${code("ts", desktopApp)}

## 3. Run it

${code("sh", `export CORNER_OFFICE_URL=${settings().appUrl}\nnode app.mjs`)}

It prints an address. Open it, approve, and the program prints \`run\`. At the next start it does not ask again.

## In Electron

Use the file in the main process: operations that read an account send no CORS headers, so a window cannot read their answers. Pass \`shell.openExternal\` to \`connectOnDesktop\`, and encrypt what the vault stores with \`safeStorage\`.

## How the file does it

This part receives the answer and keeps the refresh token:

${readParts("On a computer", "typescript")}

What the tokens are worth and what can go wrong is the same on every platform: [Connect an app](${to.connectAnApp}#what-your-app-gets).
`,
};

type PhoneApp = Pick<DocumentText, "title" | "summary"> & {
  /** What the owner approves it in. */
  opens: string;
  /** What owners know it by. */
  name: string;
  language: "typescript" | "swift" | "kotlin";
  file: string;
  add: string;
  sample: (appUrl: string) => string;
  storage: string;
};

/** The page of an app that is called back at its own URL scheme. */
const phonePage = ({ title, summary, opens, name, ...app }: PhoneApp): DocumentText => ({
  ...common,
  title,
  summary,
  markdown: () => `Your app opens ${opens}, which returns the approval to your app's own URL scheme.

## 1. Register your app

Use your domain, reversed, as the URL scheme. ${registration(name, "com.example.studio:/signed-in")}

## 2. Add the client

${save(app.language, app.file)}

${app.add}

## 3. Connect and ask

The loop asks from the start, and tells you after each answer whether the company may run. \`signIn\` is for your button.

${code(app.language === "typescript" ? "ts" : app.language, app.sample(settings().appUrl))}

## Storage

${app.storage}

## How the file connects

${readParts("Approval", app.language)}

Do not use a web view inside your app: the owner could not see which site asks for their sign-in. What the tokens are worth and [what can go wrong](${to.connectAnApp}#what-can-go-wrong) is the same on every platform.
`,
});

const inSwift = (appUrl: string) => `
import AuthenticationServices

/// Make one when your app starts.
@MainActor
final class Office {
  private let connection: Connection
  private let gate: CompanyGate

  init() {
    let url = URL(string: "${appUrl}")!
    let connection = Connection(url: url, clientId: "studio", vault: KeychainVault())
    let gate = CompanyGate(url: url) { try await connection.readToken(deadToken: $0) }
    self.connection = connection
    self.gate = gate
    Task { await gate.keepAsking { mayRun, why in print(mayRun ? "run" : "wait", why) } }
  }

  /// When the person presses "Sign in".
  func signIn(over window: ASPresentationAnchor) async throws {
    let sheet = ApprovalSheet(over: window)
    _ = try await connection.connect(redirectUri: "com.example.studio:/signed-in") {
      try await sheet.open($0, scheme: "com.example.studio")
    }
    await gate.wake()
  }
}`;

export const connectIphone = phonePage({
  title: "iPhone and Mac app",
  summary:
    "Connect an app in Swift: the owner approves it in a sheet of the system's browser, and it asks whether it may run.",
  opens: "the system's browser in a sheet (`ASWebAuthenticationSession`)",
  name: "Studio for iPhone",
  language: "swift",
  file: "CornerOffice.swift",
  add: "Add the file to your target. It needs nothing else.",
  sample: inSwift,
  storage:
    "The refresh token is in the keychain, and the key that it is bound to in the Secure Enclave, so a copy of either is worth nothing elsewhere. The file follows no redirect, which would take the token to another host.",
});

const manifest = `
<uses-permission android:name="android.permission.INTERNET" />
<application>
  <activity android:name=".AnswerActivity" android:exported="true">
    <intent-filter>
      <action android:name="android.intent.action.VIEW" />
      <category android:name="android.intent.category.DEFAULT" />
      <category android:name="android.intent.category.BROWSABLE" />
      <data android:scheme="com.example.studio" />
    </intent-filter>
  </activity>
</application>`;

const inKotlin = (appUrl: string) => `
import android.content.Context
import android.os.SystemClock
import java.io.IOException
import kotlin.concurrent.thread

/** Make one when your app starts. */
class Office(private val context: Context) {
    private val url = "${appUrl}"
    private val connection = Connection(url, "studio", KeystoreVault(context), SystemClock::elapsedRealtime)
    private val gate = CompanyGate(url, SystemClock::elapsedRealtime, connection::readToken)
    private val asking = thread(isDaemon = true) {
        gate.keepAsking { println((if (it.mayRun()) "run " else "wait ") + it.why) }
    }

    /** When the person presses "Sign in". */
    fun signIn() = thread {
        try {
            connection.connect("com.example.studio:/signed-in") { address -> openCustomTab(context, address) }
            gate.wake()
        } catch (failure: IOException) {
            println(failure.message)
        }
    }
}`;

export const connectAndroid = phonePage({
  title: "Android app",
  summary: "Connect an app in Kotlin: the owner approves it in a Custom Tab, and it asks whether it may run.",
  opens: "a Custom Tab of the owner's browser",
  name: "Studio for Android",
  language: "kotlin",
  file: "CornerOffice.kt",
  add: `Add the file to your sources, with the \`package\` of your app as its first line, and this to \`AndroidManifest.xml\`:

${code("text", manifest)}`,
  sample: inKotlin,
  storage:
    "The refresh token is encrypted with a key of Android's keystore, and bound to another one, which stays in the phone's hardware, so a copy of either is worth nothing elsewhere. The file follows no redirect, which would take the token to another host.",
});

const inExpo = (appUrl: string) => `
import * as SecureStore from "expo-secure-store";
import * as WebBrowser from "expo-web-browser";
import { install } from "react-native-quick-crypto";
import { CompanyGate, Connection } from "./corner-office";

install(); // React Native has no WebCrypto of its own
const url = "${appUrl}";
const keyType = { name: "ECDSA", namedCurve: "P-256" };
const onlyHere = { keychainAccessible: SecureStore.AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY };
const vault = {
  read: async () => (await SecureStore.getItemAsync("corner-office")) ?? "",
  write: (refreshToken = "") => SecureStore.setItemAsync("corner-office", refreshToken, onlyHere),
  /** The app's key, which no backup takes to another phone: tokens are worth nothing without it. */
  openKey: async () => {
    let kept = await SecureStore.getItemAsync("corner-office-key");
    if (!kept) {
      const { privateKey } = await crypto.subtle.generateKey(keyType, true, ["sign"]);
      kept = JSON.stringify(await crypto.subtle.exportKey("jwk", privateKey));
      await SecureStore.setItemAsync("corner-office-key", kept, onlyHere);
    }
    const jwk = JSON.parse(kept);
    return { jwk, privateKey: await crypto.subtle.importKey("jwk", jwk, keyType, false, ["sign"]) };
  },
};
const connection = new Connection(url, "studio", vault);
const gate = new CompanyGate(url, connection.readToken);
void gate.keepAsking(() => console.log(gate.mayRun() ? "run" : "wait", gate.why));

/** When the person presses "Sign in". */
export async function signIn() {
  await connection.connect("com.example.studio:/signed-in", async (address = "", redirectUri = "") =>
    Object(await WebBrowser.openAuthSessionAsync(address, redirectUri)).url ?? "");
  gate.wake();
}`;

export const connectExpo = phonePage({
  title: "Expo app",
  summary: "Connect an app in React Native with Expo: the owner approves it in the phone's browser.",
  opens: "the phone's browser",
  name: "Studio for phones",
  language: "typescript",
  file: "corner-office.ts",
  add: `React Native has no WebCrypto: \`react-native-quick-crypto\` and the two packages that it needs bring it.

${code(
  "console",
  "npx expo install expo-secure-store expo-web-browser react-native-quick-crypto react-native-nitro-modules react-native-quick-base64",
)}

Name your scheme in \`app.json\`. Then make a development build, such as with \`npx expo run:android\`: Expo Go has neither your scheme nor WebCrypto.

${json({ expo: { scheme: "com.example.studio" } })}`,
  sample: inExpo,
  storage:
    "The refresh token and the app's key lie in the phone's secure store, and no backup takes them to another phone. React Native's own `fetch` follows redirects without asking; in the other languages the files follow none.",
});

export const connectTerminal: DocumentText = {
  ...common,
  title: "Terminal or device",
  summary: "Connect a program without a browser: it shows a code, which the owner enters on any device.",
  markdown:
    () => `Your program shows a code and a link. The owner enters the code on any device that has a browser (RFC 8628).

## 1. Save the client

${save("python", "corner_office.py")}

One file with nothing to install: sign-in, renewal, storage and the loop.

## 2. Run it

${code("sh", `export CORNER_OFFICE_URL=${settings().appUrl}\npython3 corner_office.py`)}

It prints a code, connects, then asks in a loop. At the next start it does not ask its owner again. Import it to use it in a program of your own: [A complete client](${to.client}).

## 3. The owner enters the code

At ${linkToPage(pages.connect)} on any device, within ${describeSeconds(oauthSeconds.deviceCode)}. The link with the code leads to the same page, where the owner still has to enter the code, so that a link alone cannot connect a device (RFC 8628, section 5.4).

## How the file does it

This is its sign-in:

${readParts("The connection", "python")}

What the tokens are worth and what can go wrong is the same on every platform: [Connect an app](${to.connectAnApp}#what-your-app-gets).
`,
};

/** What a server calls in its routes. `tests/lib/docs/connect-samples.drill.ts` runs it. */
const webServer = `
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
}`;

export const connectWeb: DocumentText = {
  ...common,
  title: "Browser app",
  summary: "Connect a page in a browser: its server gets the approval and keeps the tokens.",
  markdown: () => `A single-page app should hold no refresh token, so its server connects, not the page.

## 1. Register your server

${registration("Studio", "https://studio.example.com/signed-in")}

## 2. Connect on the server

${save("typescript", "corner-office.mjs")}

Save this next to it as \`studio.mjs\`, and call it from three routes of your server: one that redirects the person's browser to us, \`/signed-in\`, to which it comes back, and yours that need a yes.

${code("ts", webServer)}

\`Connection\` uses PKCE, and your server's HTTPS address as the redirect URI. With several instances, the answer has to reach the one that asked.

## 3. Give the page your own session

The page only has your session cookie (\`__Host-\` name, \`Secure\`, \`HttpOnly\`, \`SameSite=Strict\`), and your server protects its endpoints against CSRF. A script that gets into the page finds no token.

## Why not in the page

RFC 10017 (BCP 212), “OAuth 2.0 for Browser-Based Applications”, describes three architectures, the safest first:

1. **Backend for frontend.** Your server is the app: the steps above. It keeps both tokens, renews them, and calls our API. Use this one.
2. **Token-mediating backend.** Your server keeps the refresh token and gives the page the access token, which a script in the page can steal for as long as it lives. Here it gains nothing: operations that read an account send no CORS headers, so a page of another origin cannot read their answers.
3. **The page as the client.** Do not do this. A browser has no storage that scripts of the page cannot read. Anyone who gets a script into it, through a dependency or an injection, takes the newest refresh token. Rotation does not reveal that: the thief waits until the page is closed, and no one else uses that token. The thief then renews it until the session ends.
`,
};
