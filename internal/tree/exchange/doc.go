// Package exchange brings memories in and out: entries as JSON lines, Markdown
// files and directories of them, chat logs, and the knowledge graph of the MCP
// memory server.
//
// A reader turns a file into items: an item is an entry as it stood elsewhere,
// with the place it was found at. [Import] adds the items that a store lacks;
// [Export] writes a store's entries.
//
//	items := exchange.Read(fsys, "notes", nil)
//	report, err := exchange.Import(ctx, store, items, nil)
//
// What cannot be taken is never dropped in silence: a reader yields an
// [*ItemError] that names the file and line, and reads on. Only an error that
// is no ItemError ends the reading, and it comes last.
//
// Importing the same input twice changes nothing. How an item meets an entry
// that the store already holds is written at [Import].
package exchange
