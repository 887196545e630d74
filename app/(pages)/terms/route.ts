export { GET, HEAD } from "../docs/[[...document]]/route";
