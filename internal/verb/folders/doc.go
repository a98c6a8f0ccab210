// Package folders implements the verbs for directories of Markdown files that a memory follows.
package folders
