import type { ReactNode } from "react";

type PostFormProps = {
  action: string;
  hidden?: Record<string, string> | undefined;
  className?: string | undefined;
  children: ReactNode;
};

/** A form that is posted with hidden fields, with or without JavaScript. */
export function PostForm({ action, hidden = {}, className, children }: PostFormProps) {
  return (
    <form method="post" action={action} className={className}>
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
