import type { Metadata } from "next";
import Layout from "@/app/(pages)/layout";

export const metadata: Metadata = { title: "Nothing here · Corner Office" };

/** Every address that is no page. */
export default function NothingHere() {
  return (
    <Layout>
      <h1>Nothing here</h1>
      <p>
        There is no page at this address. <a href="/docs">The documents</a> say what there is.
      </p>
    </Layout>
  );
}
