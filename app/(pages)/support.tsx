import { settings } from "@/lib/config/settings";

/** The support address, if the operator configured one. */
export function Support() {
  const { supportEmail } = settings();
  if (!supportEmail) return null;
  return (
    <p className="quiet">
      Need help? Email <a href={`mailto:${supportEmail}`}>{supportEmail}</a>.
    </p>
  );
}
