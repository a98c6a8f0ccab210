// Package folders implements the verbs of folders: directories of Markdown files that a memory follows.
package folders
