// The screen `playground`.
export default function Screen() {
  return <h1>playground</h1>;
}
