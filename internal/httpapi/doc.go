// Package httpapi serves a memory to programs over HTTP. The verbs of package verb are routes below
// /api/v1, which an OpenAPI document describes. One table lists the routes. Each calls one verb,
// with the path, the query and the body of the request combined into one JSON object.
package httpapi
