export { GET, HEAD, OPTIONS } from "../docs/[[...document]]/route";
