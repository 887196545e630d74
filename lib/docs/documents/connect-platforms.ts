import { describeSeconds } from "@/lib/config/durations";
import { oauthSeconds } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { readParts } from "@/lib/docs/client-files";
import type { DocumentText } from "@/lib/docs/document";
import { code, json, linkToPage, to } from "@/lib/docs/markdown";
import { programs, type SampleFile } from "@/lib/docs/samples";
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

${programs("desktop.mjs")}

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
  add: () => string;
  sample: SampleFile;
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

${app.add()}

## 3. Connect and ask

The loop asks from the start, and tells you after each answer whether the company may run. \`signIn\` is for your button.

${programs(app.sample)}

## Storage

${app.storage}

## How the file connects

${readParts("Approval", app.language)}

Do not use a web view inside your app: the owner could not see which site asks for their sign-in. What the tokens are worth and [what can go wrong](${to.connectAnApp}#what-can-go-wrong) is the same on every platform.
`,
});

export const connectIphone = phonePage({
  title: "iPhone and Mac app",
  summary:
    "Connect an app in Swift: the owner approves it in a sheet of the system's browser, and it asks whether it may run.",
  opens: "the system's browser in a sheet (`ASWebAuthenticationSession`)",
  name: "Studio for iPhone",
  language: "swift",
  file: "CornerOffice.swift",
  add: () => "Add the file to your target. It needs nothing else.",
  sample: "iphone.swift",
  storage:
    "The refresh token is in the keychain, and the key that it is bound to in the Secure Enclave, so a copy of either is worth nothing elsewhere. The file follows no redirect, which would take the token to another host.",
});

export const connectAndroid = phonePage({
  title: "Android app",
  summary: "Connect an app in Kotlin: the owner approves it in a Custom Tab, and it asks whether it may run.",
  opens: "a Custom Tab of the owner's browser",
  name: "Studio for Android",
  language: "kotlin",
  file: "CornerOffice.kt",
  add: () => `Add the file to your sources, with the \`package\` of your app as its first line, and this to \`AndroidManifest.xml\`:

${programs("android-manifest.xml")}`,
  sample: "android.kt",
  storage:
    "The refresh token is encrypted with a key of Android's keystore, and bound to another one, which stays in the phone's hardware, so a copy of either is worth nothing elsewhere. The file follows no redirect, which would take the token to another host.",
});

export const connectExpo = phonePage({
  title: "Expo app",
  summary: "Connect an app in React Native with Expo: the owner approves it in the phone's browser.",
  opens: "the phone's browser",
  name: "Studio for phones",
  language: "typescript",
  file: "corner-office.ts",
  add: () => `React Native has no WebCrypto: \`react-native-quick-crypto\` and the two packages that it needs bring it.

${code(
  "console",
  "npx expo install expo-secure-store expo-web-browser react-native-quick-crypto react-native-nitro-modules react-native-quick-base64",
)}

Name your scheme in \`app.json\`. Then make a development build, such as with \`npx expo run:android\`: Expo Go has neither your scheme nor WebCrypto.

${json({ expo: { scheme: "com.example.studio" } })}`,
  sample: "expo.mjs",
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

${programs("web-server.mjs")}

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
