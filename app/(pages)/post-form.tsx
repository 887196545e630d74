import type { ReactNode } from "react";

type PostFormProps = {
  action: string;
  hidden?: Record<string, string> | undefined;
  className?: string | undefined;
  /** Whether the browser leaves the fields to us: what is an email differs between browsers. */
  noValidate?: true;
  children: ReactNode;
};

/** A form that is posted with hidden fields, with or without JavaScript. */
export function PostForm({ hidden = {}, children, ...form }: PostFormProps) {
  return (
    <form method="post" {...form}>
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
}

/** A form that is only a button. Its label says on which of many it acts. */
export function PostButton({ label, children, ...form }: PostFormProps & { label?: string | undefined }) {
  return (
    <PostForm {...form}>
      <button type="submit" className="plain" aria-label={label}>
        {children}
      </button>
    </PostForm>
  );
}
