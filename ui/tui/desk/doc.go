// Package desk is what panes and acts share: the stores, the sources, the frame around them, the exports.
package desk
