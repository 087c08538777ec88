// Catches what a screen throws while it is drawn, and a part of the page that could not be loaded after an update.
import { Component, type ReactNode } from 'react';
import { Failure } from '../parts/failure.tsx';
import { CallFailed } from '../session/api.ts';

interface Props {
  children: ReactNode;
  onReset(): void;
}

export class ScreenBoundary extends Component<Props, { error: Error | undefined }> {
  override state = { error: undefined as Error | undefined };

  static getDerivedStateFromError(thrown: unknown) {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    const retry = () => {
      // What could not be loaded stays missing until the page itself is loaded again.
      if (!(error instanceof CallFailed)) return location.reload();
      this.props.onReset();
      this.setState({ error: undefined });
    };
    return <Failure error={error} retry={retry} title="This screen could not be shown" />;
  }
}
