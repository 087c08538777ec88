// The screen `usage`.
export default function Screen() {
  return <h1>usage</h1>;
}
