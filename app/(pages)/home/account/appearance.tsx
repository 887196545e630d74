import { appearances, readAppearance } from "@/lib/http/appearance";
import { forms } from "@/lib/http/register/forms";
import { PostForm } from "../../post-form";
import type { OwnVisit } from "../owner-page";

const names = { system: "System", light: "Light", dark: "Dark" };

/** How the pages look in this browser. */
export function AppearanceChoice({ account, headers }: Pick<OwnVisit, "account" | "headers">) {
  const chosen = readAppearance(headers);
  return (
    <section className="setting" id="appearance">
      <div>
        <h2>Appearance</h2>
        <p className="quiet">In this browser.</p>
      </div>
      <PostForm action={forms.chooseAppearance.path} hidden={{ account: account.id }} className="looks">
        {appearances.map((look) => (
          <button
            key={look}
            type="submit"
            name="look"
            value={look}
            className="plain"
            aria-pressed={look === chosen}
          >
            <span data-look={look} aria-hidden="true" />
            {names[look]}
          </button>
        ))}
      </PostForm>
    </section>
  );
}
