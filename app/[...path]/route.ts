/** The 404 of an address that is none. Middleware says it first, but does not see every spelling that Next leads here. */
export { GET, GET as OPTIONS, GET as POST } from "../(pages)/nothing-here/route";
