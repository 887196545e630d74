export { GET } from "../docs/[[...path]]/route";
