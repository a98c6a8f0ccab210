// Package httpapi serves a memory to programs over HTTP. Each route below /api/v1 calls one verb of package verb. A
// request's path, query and body are combined into one JSON object, which is the argument of the verb. An OpenAPI
// document describes all routes.
package httpapi
