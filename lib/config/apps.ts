import * as z from "zod";

/** An app to connect: its name, what it runs on, and where it is found. */
export type App = { name: string; platform: string; url: string };

const app = z.object({
  name: z.string().min(1),
  platform: z.string().min(1),
  url: z.url({ protocol: /^https?$/ }),
});

/** `APPS`: apps as `name | platform | address`, one after the other with semicolons in between. */
export const apps = z.string().transform((text, context): App[] => {
  const parsed = text
    .split(";")
    .map((each) => each.split("|").map((part) => part.trim()))
    .filter(([name, ...rest]) => name !== "" || rest.length > 0)
    .map(([name, platform, url, ...more]) =>
      app.safeParse(more.length === 0 ? { name, platform, url } : undefined),
    );
  if (parsed.every(({ success }) => success)) return parsed.flatMap(({ data }) => data ?? []);
  const message =
    "must be apps like Desk | macOS and Windows | https://example.com/desk; Pocket | iOS | https://…";
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});
