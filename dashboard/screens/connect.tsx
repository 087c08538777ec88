// The screen `connect`.
export default function Screen() {
  return <h1>connect</h1>;
}
