import { settings } from "@/lib/config/settings";

type CheckoutNoteProps = { outcome: string | undefined; isLicensed: boolean };

/** Says how a checkout ended, to an owner who comes back from it. */
export function CheckoutNote({ outcome, isLicensed }: CheckoutNoteProps) {
  if (!outcome || !Object.hasOwn(outcomes, outcome) || !settings().billing) return null;
  const isPending = !isLicensed && (outcome === "bought" || outcome === "licensed");
  const words = isPending ? outcomes.pending : outcomes[outcome];
  return (
    <p className="problem ours" role="status">
      {words}
    </p>
  );
}

const outcomes: Record<string, string> = {
  bought: "Thank you. Your purchase is complete.",
  pending:
    "Stripe has not confirmed your payment yet. Once it does, this page shows what you bought; do not buy it again.",
  cancelled: "You left the checkout. Nothing was bought, and nothing has changed.",
  licensed: "You already have a plan, so nothing was bought.",
};
