import * as z from "zod";

const named = z.string().min(1);
const list = z.array(z.tuple([named, named, z.url({ protocol: /^https?$/ })]));

/** `APPS`: apps as `name | platform | address`, one after the other with semicolons in between. */
export const apps = z.string().transform((text, context) => {
  const rows = text.split(";").map((app) => app.split("|").map((part) => part.trim()));
  const { data } = list.safeParse(rows.filter(([name, ...rest]) => name !== "" || rest.length > 0));
  if (data) return data.map(([name, platform, url]) => ({ name, platform, url }));
  const message =
    "must be apps like Desk | macOS and Windows | https://example.com/desk; Pocket | iOS | https://…";
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});
