// Package review implements the verbs for decisions of a person. These are the proposals of the
// inbox, and texts of persons that agents changed.
package review
