import { settings } from "@/lib/config/settings";
import { colours, type } from "@/lib/config/theme";
import { aheadOfUtc, nameOfTime } from "@/lib/config/time-zone";
import { escapeHtml } from "@/lib/http/escape-html";
import type { Page } from "@/lib/http/register/pages";
import type { Mail, RenderedMail } from "@/lib/mail/mail";

/** The content of a mail, before it is rendered as text and HTML. All strings are plain text and get escaped. */
export type MailContent = {
  subject: string;
  heading?: string;
  /** The text that a mailbox shows after the subject. */
  preview: string;
  body: Block[];
  /** By default the one of mails about the account. */
  footer?: Block[];
  /** Besides those of every mail. */
  headers?: Mail["headers"];
};

/** A paragraph, a table, a list, a code to enter, or a link on its own line. */
export type Block =
  | string
  | { facts: Facts }
  | { steps: string[] }
  | { points: string[] }
  | { code: string }
  | Link;

/** What is so, by its name: a few words each, and no line for what is not known. */
export type Facts = Record<string, string | undefined>;

/** What a mail leads to. It is the one thing to do, unless it may be left, or is for a reader who did not do what happened. */
type Link = { label: string; url: string; is?: "optional" | "danger" };

type OwnersPage = Page & { access: "session" };

/**
 * The button of a mail about the account, which says what its reader does there: one of its owner's pages. It carries no secret,
 * so they have to be signed in.
 */
export function linkTo({ path }: OwnersPage, label: string, is?: Link["is"]): Link {
  return { label, url: settings().appUrl + path, ...(is && { is }) };
}

/** What an unsubscribe does not stop. */
export const whatGoesOn = (whose: "your" | "the" = "your") =>
  `Emails about sign-in, security and the state of ${whose} account go on`;

/** The footer of a mail that goes on after an unsubscribe. */
const accountMailNote = `You received this email because it is about your account. ${whatGoesOn()} if you stop the onboarding emails.`;

const words = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short", timeZone: "UTC" });

/**
 * An instant as a mail names it, for example "Saturday 28 November 2026 at 09:00 UTC", or in the zone of its owner "Saturday
 * 28 November 2026 at 10:00 Central European Standard Time". The name is of the time, not of the zone, so that it tells the
 * two hours apart that have the same figures on a night in autumn.
 */
export function formatInstant(ms: number, zone?: string | null): string {
  const aheadMs = aheadOfUtc(zone, ms);
  return aheadMs === undefined
    ? `${words.format(ms)} UTC`
    : `${words.format(ms + aheadMs)} ${nameOfTime(zone ?? "", ms)}`;
}

/** Renders a mail. Automatic replies to it, such as holiday notices, are suppressed (RFC 3834 §5; Exchange's by its own header). */
export function renderMail(mail: MailContent): RenderedMail {
  const { appUrl, operatorName, supportEmail, mail: sending } = settings();
  const whoSends = `Corner Office at ${new URL(appUrl).host}${operatorName ? `, run by ${operatorName}` : ""}`;
  const content = { ...mail, footer: [...(mail.footer ?? [accountMailNote]), whoSends] };
  return {
    from: sending.from,
    replyTo: supportEmail,
    subject: content.subject,
    text: renderText(content),
    html: renderHtml(content),
    headers: {
      ...mail.headers,
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "OOF, AutoReply",
    },
  };
}

/** Renders a mail as plain text. Lines are not wrapped: mail programs do that. */
export function renderText({ body, footer = [] }: MailContent): string {
  return `${body.map(blockText).join("\n\n")}\n\n-- \n${footer.map(blockText).join("\n\n")}\n`;
}

const known = (facts: Facts) =>
  Object.entries(facts).filter((fact): fact is [string, string] => fact[1] !== undefined);

function blockText(block: Block): string {
  if (typeof block === "string") return block;
  if ("facts" in block)
    return known(block.facts)
      .map((fact) => fact.join(": "))
      .join("\n");
  if ("steps" in block) return block.steps.map((step, at) => `${at + 1}. ${step}`).join("\n");
  if ("points" in block) return block.points.map((point) => `* ${point}`).join("\n");
  if ("code" in block) return block.code;
  return `${block.label}:\n${block.url}`;
}

/**
 * Renders a mail as HTML in one framed column, light and dark, without external resources; the first link is the button.
 * Outlook needs tables, and some mailboxes drop `<style>`, so the important styles are attributes as well. A mailbox that
 * makes its own dark colours has a border around the frame and the button, and so never loses either.
 */
export function renderHtml(mail: MailContent): string {
  const { subject, heading = subject, preview, body, footer = [] } = mail;
  const button = body.find((block) => typeof block !== "string" && "url" in block);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (max-width: 480px) { .frame { padding: 24px 20px 12px !important; } }
@media (prefers-color-scheme: dark) {
${darkRules("")}
}
${darkRules("[data-ogsc] ", "[data-ogsb] ")}
</style>
${forOutlook(`<style>td, th, p, a, li { font-family: 'Segoe UI', Arial, sans-serif !important; } h1 { font-family: Georgia, serif !important; }</style>`)}
</head>
<body class="paper" style="margin: 0; background: ${light.paper}; color: ${light.ink};">
<div style="display: none; max-height: 0; overflow: hidden;">${escapeHtml(preview)}</div>
<table role="presentation" class="paper" width="100%" cellpadding="0" cellspacing="0" style="background: ${light.paper}; color: ${light.ink};"><tr><td align="center" style="padding: 32px 20px;">
${forOutlook(`<table role="presentation" width="560" cellpadding="0" cellspacing="0"><tr><td>`)}
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width: 560px; text-align: left; font: 16px/1.6 ${type.mailSans};"><tr><td>
${mailHeader}
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td class="frame raised" bgcolor="${light.raised}" style="border: 1px solid ${light.line}; border-radius: 12px; padding: 32px 32px 16px; background: ${light.raised}; color: ${light.ink};">
<h1 style="margin: 0 0 16px; font: 600 26px/1.2 ${type.mailSerif}; letter-spacing: -0.01em;">${escapeHtml(heading)}</h1>
${body.map((block) => (block === button ? renderButton(block as Link) : renderBlock(block))).join("\n")}
</td></tr></table>
<div class="quiet" style="padding: 24px 4px 0; font-size: 13px; color: ${light.quiet};">
${footer.map(renderBlock).join("\n")}
</div>
</td></tr></table>
${forOutlook("</td></tr></table>")}
</td></tr></table>
</body>
</html>
`;
}

/** Only Outlook reads this: it ignores `max-width`, and falls back to Times if it lacks the first font. */
function forOutlook(html: string): string {
  return `<!--[if mso]>${html}<![endif]-->`;
}

const light = themeColours(0);
const dark = themeColours(1);

type Colours = typeof light;
type ButtonColours = Record<"fill" | "words" | "edge", keyof Colours>;

/** The buttons look as on the pages: filled, outlined, and outlined in red. */
const buttons: Record<"act" | NonNullable<Link["is"]>, ButtonColours> = {
  act: { fill: "accent", words: "on-accent", edge: "accent" },
  optional: { fill: "raised", words: "ink", edge: "edge" },
  danger: { fill: "raised", words: "stopped", edge: "stopped" },
};

/** The dark colours. Outlook on the web and on phones knows no media query, but marks what it recoloured. */
function darkRules(...within: string[]): string {
  const of = (...classes: string[]) =>
    within.flatMap((at) => classes.map((one) => `${at}.${one}`)).join(", ");
  return `${of("paper")} { background: ${dark.paper} !important; color: ${dark.ink} !important; }
${of("raised")} { background: ${dark.raised} !important; color: ${dark.ink} !important; border-color: ${dark.line} !important; }
${of("line")} { border-color: ${dark.line} !important; }
${of("sunken")} { background: ${dark.sunken} !important; border-color: ${dark.line} !important; }
${of("quiet")} { color: ${dark.quiet} !important; }
${of("link")} { color: ${dark.link} !important; }
${Object.entries(buttons)
  .map(
    ([look, { fill, words, edge }]) =>
      `${of(look, `${look} a`)} { background: ${dark[fill]} !important; color: ${dark[words]} !important; border-color: ${dark[edge]} !important; }`,
  )
  .join("\n")}
${of("mark")} { border-color: ${dark.ink} ${dark.accent} !important; }`;
}

function themeColours(theme: 0 | 1): Record<keyof typeof colours, string> {
  const entries = Object.entries(colours).map(([name, colour]) => [name, colour[theme]]);
  return Object.fromEntries(entries);
}

/** The logo, drawn with cell borders, because mailboxes block images by default. */
const mailHeader = `<table role="presentation" cellpadding="0" cellspacing="0" style="margin: 0 0 28px;"><tr>
<td class="mark" width="14" height="14" style="width: 14px; height: 14px; border-style: solid; border-width: 4px 4px 0 0; border-color: ${light.ink} ${light.accent}; font-size: 0; line-height: 0;">&nbsp;</td>
<td style="padding-left: 12px; font: 600 19px/1 ${type.mailSerif};">Corner Office</td>
</tr></table>`;

/** A cell with a background, because Outlook ignores the padding of a link. */
function renderButton({ label, url, is }: Link): string {
  const look = is ?? "act";
  const { fill, words, edge } = buttons[look];
  return `<table role="presentation" cellpadding="0" cellspacing="0" style="margin: 8px 0 24px;"><tr><td class="${look}" bgcolor="${light[fill]}" style="border: 1px solid ${light[edge]}; border-radius: 6px; background: ${light[fill]}; mso-padding-alt: 13px 24px;"><a href="${escapeHtml(url)}" style="display: inline-block; padding: 13px 24px; border-radius: 6px; background: ${light[fill]}; color: ${light[words]}; font-weight: 600; text-decoration: none;">${escapeHtml(label)}</a></td></tr></table>`;
}

function renderBlock(block: Block): string {
  if (typeof block === "string") return `<p style="margin: 0 0 16px;">${escapeHtml(block)}</p>`;
  if ("facts" in block) return renderFacts(block.facts);
  if ("steps" in block) return renderList("ol", block.steps);
  if ("points" in block) return renderList("ul", block.points);
  if ("code" in block) return renderCode(block.code);
  const link = `<a class="link" href="${escapeHtml(block.url)}" style="color: ${light.link};">${escapeHtml(block.label)}</a>`;
  return `<p style="margin: 0 0 16px;">${link}</p>`;
}

/** A row for each fact: its name, then what is so. */
function renderFacts(facts: Facts): string {
  const cell = `border-top: 1px solid ${light.line}; text-align: left; vertical-align: top;`;
  const rows = known(facts).map(
    ([name, value]) =>
      `<tr><th class="quiet line" scope="row" style="${cell} width: 8em; padding: 10px 16px 10px 0; color: ${light.quiet}; font-weight: 400;">${escapeHtml(name)}</th><td class="line" style="${cell} padding: 10px 0;">${escapeHtml(value)}</td></tr>`,
  );
  return `<table width="100%" cellpadding="0" cellspacing="0" style="margin: 4px 0 20px; font-size: 15px; line-height: 1.5;">${rows.join("")}</table>`;
}

function renderCode(code: string): string {
  const size = code.length > 8 ? "24px" : "38px";
  const spacing = code.length > 8 ? "0.06em" : "0.12em";
  return `<p class="sunken" style="margin: 8px 0 24px; border: 1px solid ${light.line}; border-radius: 10px; padding: 18px 20px; background: ${light.sunken}; text-align: center; font: 600 ${size}/1.2 ui-monospace, Menlo, Consolas, monospace; letter-spacing: ${spacing};">${escapeHtml(code)}</p>`;
}

function renderList(tag: "ol" | "ul", items: string[]): string {
  const listed = items.map((item) => `<li style="margin: 0 0 6px;">${escapeHtml(item)}</li>`).join("");
  return `<${tag} style="margin: 0 0 16px; padding-left: 24px;">${listed}</${tag}>`;
}
