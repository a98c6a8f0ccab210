// Package imports implements the verb import, which brings entries into the memory and sessions
// into the archive.
package imports
