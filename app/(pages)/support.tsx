import { settings } from "@/lib/config/settings";

/** How to reach a person, where the operator said how. */
export function Support() {
  const { supportEmail } = settings();
  if (!supportEmail) return null;
  return (
    <p className="quiet">
      Stuck? Write to <a href={`mailto:${supportEmail}`}>{supportEmail}</a>.
    </p>
  );
}
