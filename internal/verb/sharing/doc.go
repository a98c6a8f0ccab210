// Package sharing has the verbs by which entries reach others: through the files of a
// team, which travel with its repository, and through servers that a home is reconciled
// with.
package sharing
