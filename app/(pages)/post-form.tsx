import type { ReactNode } from "react";

type PostFormProps = {
  action: string;
  hidden?: Record<string, string> | undefined;
  className?: string | undefined;
  /** For a button outside the form. */
  id?: string;
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

type PostButtonProps = PostFormProps & {
  /** Says on which of many it acts. */
  label?: string | undefined;
  /** What ends or removes something is red, and what stands in a row is small. */
  look?: "plain" | "plain small" | "danger" | "danger small" | "linklike";
};

/** A form that is only a button. */
export function PostButton({ label, look = "plain", children, ...form }: PostButtonProps) {
  return (
    <PostForm {...form}>
      <button type="submit" className={look} aria-label={label}>
        {children}
      </button>
    </PostForm>
  );
}
