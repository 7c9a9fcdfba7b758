// Says whether two folders hold scripts of the same meaning: the same tree of syntax, with `let`
// for `const` and strings that were parted by a line's end joined. Arguments: typescript, one, other.
const fs = require('fs');
const path = require('path');
const ts = require(process.argv[2]);

/** The text of strings and sums of strings; null of anything else. */
function text(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  const plus = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
  if (!plus) return null;
  const [left, right] = [text(node.left), text(node.right)];
  return left === null || right === null ? null : left + right;
}

function words(file) {
  const tree = ts.createSourceFile('x.js', fs.readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const out = [];
  const follow = (node) => {
    const whole = text(node);
    if (whole !== null) return out.push(`string ${whole}`);
    const named = ts.isSourceFile(node) ? '' : (node.text ?? '');
    out.push(`${node.kind} ${named}`);
    ts.forEachChild(node, follow);
    return out.push('end');
  };
  follow(tree);
  return out;
}

for (const name of fs.readdirSync(process.argv[3])) {
  const [one, other] = [3, 4].map((place) => words(path.join(process.argv[place], name)));
  const at = one.findIndex((word, place) => word !== other[place]);
  if (at >= 0 || one.length !== other.length) console.log(name, one[at], other[at]);
}
