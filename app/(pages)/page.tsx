export default function FrontPage() {
  return <h1>Corner Office</h1>;
}
