// Package transfer implements dump, load, export, import, and the conversion to another layout.
package transfer
