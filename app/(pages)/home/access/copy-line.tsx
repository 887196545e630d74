/** A line of text with a button that copies it. Without JavaScript, the line can be selected. */
export function CopyLine({ text, label }: { text: string; label: string }) {
  return (
    <div className="copy-line">
      <code>{text}</code>
      <button type="button" className="plain small with-script" aria-label={`Copy ${label}`} data-copies="">
        Copy
      </button>
      <span role="status" data-kept="" />
    </div>
  );
}
