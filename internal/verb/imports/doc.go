// Package imports implements the verb import, which brings in what other programs wrote: entries into the
// memory, and sessions into the archive.
package imports
