// Package review implements the verbs with which a person decides about proposals in the inbox and about changes by
// agents to the person's texts.
package review
