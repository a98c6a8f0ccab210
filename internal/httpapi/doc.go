// Package httpapi is the door to a memory for any program that speaks HTTP: the verbs
// of package verb as routes below /api/v1, and their description by OpenAPI. One
// table has the routes; a route is a verb, and what a request gives it is one JSON
// object, as over MCP.
package httpapi
