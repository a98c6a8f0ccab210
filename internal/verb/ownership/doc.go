// Package ownership decides which homes in a project count as the user's own.
package ownership
