// The screen `keys`.
export default function Screen() {
  return <h1>keys</h1>;
}
