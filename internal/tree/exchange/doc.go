// Package exchange imports and exports memories. The formats are entries as JSON lines, Markdown files and directories
// with such files, chat logs, and the knowledge graph of the MCP memory server.
//
// A reader yields the items in a file. An item is an entry in another program's form, with the file and line where the
// item was found. [Import] adds to a store the items that the store lacks. [Export] writes the entries of a store.
//
//	items := exchange.Read(fsys, "notes", nil)
//	report, err := exchange.Import(ctx, store, items, nil)
//
// No input is dropped silently. For input that cannot be imported, a reader yields an [*ItemError]
// with the file and line, and continues. An error of another type ends the reading and is yielded
// last.
//
// Importing the same input twice changes nothing. [Import] describes how an item is matched with an
// entry that the store already has.
package exchange
